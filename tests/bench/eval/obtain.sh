#!/bin/sh
# Fetches the development data sets into the folder $1: about 40 MB of files out of four public repositories.
# Licences: HumanEvalPack MIT, MBXP CC-BY-4.0, EvalPlus and Coffe Apache-2.0. Nothing of them belongs into this repository.
set -eu
data=${1:?usage: obtain.sh DIR}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
take() { # repository, path in it, place in $data, and the commit where it is not the newest
    name=$(basename "$1") commit=${4:-HEAD}
    test -d "$work/$name" || git clone --quiet --depth 1 --filter=blob:none --no-checkout "https://github.com/$1" "$work/$name"
    test "$commit" = HEAD || git -C "$work/$name" fetch --quiet --depth 1 --filter=blob:none origin "$commit"
    mkdir -p "$(dirname "$data/$3")"
    git -C "$work/$name" show "$commit:$2" > "$data/$3"
}
take bigcode-project/octopack evaluation/create/humaneval-x/data/python/data/humanevalpack.jsonl humanevalpack/python/humanevalpack.jsonl
take amazon-science/mxeval data/mbxp/mbpp_release_v1.jsonl mbxp/mbpp_release_v1.jsonl
take JohnnyPeng18/Coffe datasets/function/data.json coffe/data.json
take JohnnyPeng18/Coffe datasets/function/testcases.json coffe/testcases.json
take JohnnyPeng18/Coffe datasets/function/stressful_testcases.json coffe/stressful_testcases.json
# Later commits keep it outside of the repository.
take evalplus/evalplus MbppPlus.jsonl evalplus/MbppPlus.jsonl 767efcc368e0ef16568bba4ee2f1b005e849e8a6
take evalplus/evalplus HumanEvalPlus.jsonl evalplus/HumanEvalPlus.jsonl 8939a533d9fba07b4ae77e645a9b1a2c2e4b335e
take evalplus/evalplus HumanEvalPlusInputs.jsonl evalplus/HumanEvalPlusInputs.jsonl 8939a533d9fba07b4ae77e645a9b1a2c2e4b335e
