#!/usr/bin/env bash
# Installs the editor that the VS Code tests drive into FOLDER: code-server is VS Code's own workbench, from npm.
# Usage: install.sh FOLDER. Needs node 20 and npm; about a minute and 320 MB. Chromium comes from the system.
set -euo pipefail
mkdir -p "$1"
cd "$1"
npm() { command npm "$@" --no-package-lock --no-audit --no-fund --loglevel=error; }

# Scripts stay off: ripgrep's downloads from outside the registry. What they would have set up is done by hand below.
npm install --no-save --ignore-scripts code-server@4.100.3 playwright-core@1.56.1
(
  cd node_modules/code-server/lib/vscode
  npm install --ignore-scripts --omit=dev
  cd extensions
  npm install --ignore-scripts --omit=dev
  cd ..
  ln -sfn node_modules node_modules.asar
)
# The one native module that the server does not start without. It is compiled against the headers beside node: node-gyp
# would fetch them from outside the registry.
prefix=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
test -e "$prefix/include/node/node.h" && export npm_config_nodedir="$prefix"
npm rebuild argon2
