#!/bin/sh
# Fetches the development data sets into the folder $1: about 5 MB of files out of three public repositories.
# Licences: HumanEvalPack MIT, MBXP CC-BY-4.0, Coffe Apache-2.0. Nothing of them belongs into this repository.
set -eu
data=${1:?usage: obtain.sh DIR}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
take() { # repository, path in it, place in $data
    name=$(basename "$1")
    test -d "$work/$name" || git clone --quiet --depth 1 --filter=blob:none --no-checkout "https://github.com/$1" "$work/$name"
    mkdir -p "$(dirname "$data/$3")"
    git -C "$work/$name" show "HEAD:$2" > "$data/$3"
}
take bigcode-project/octopack evaluation/create/humaneval-x/data/python/data/humanevalpack.jsonl humanevalpack/python/humanevalpack.jsonl
take amazon-science/mxeval data/mbxp/mbpp_release_v1.jsonl mbxp/mbpp_release_v1.jsonl
take JohnnyPeng18/Coffe datasets/function/data.json coffe/data.json
take JohnnyPeng18/Coffe datasets/function/testcases.json coffe/testcases.json
