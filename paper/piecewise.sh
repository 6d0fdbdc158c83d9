#!/bin/sh
# Runs a study figure by figure and commits what each leaves, so that a long study may be stopped at any time and goes on where
# it was: runs are kept one by one (heddle reproduce), a figure that has its files of this simulator is computed from them in
# seconds. Arguments: study, scale, and the figures (default: all of that scale). HEDDLE names the executable (default:
# .cache/heddle, built here); JOBS is simulations at once (default: 1).
#
#     paper/piecewise.sh nuba billion          # nine programs for a billion thread instructions each
#     paper/piecewise.sh nuba standard fig3 fig7
set -eu
[ $# -ge 2 ] || { echo "usage: paper/piecewise.sh STUDY SCALE [FIGURE...]" >&2; exit 2; }
cd "$(dirname "$0")/.."
study=$1 scale=$2
shift 2
file=paper/$study/study.yaml
[ -f "$file" ] || { echo "paper/piecewise.sh: there is no $file" >&2; exit 2; }
if [ $# -eq 0 ]; then # figures of this scale alone, else those of no scale of their own
    # shellcheck disable=SC2046 # names are words
    set -- $(awk -v scale="$scale" '
        /^[a-z]/ { in_figures = /^figures:/ }
        in_figures && /^  - name: / { names[++n] = $3 }
        in_figures && /^    scale: / { of[n] = $2; if ($2 == scale) own = 1 }
        END { for (i = 1; i <= n; i++) if (own ? of[i] == scale : of[i] == "") print names[i] }' "$file")
fi
if [ -z "${HEDDLE:-}" ]; then
    HEDDLE=.cache/heddle
    go build -o "$HEDDLE" ./cmd/heddle
fi
for figure in "$@"; do
    "$HEDDLE" reproduce "$study/$figure" --scale "$scale" --jobs "${JOBS:-1}"
    for kind in csv measures.csv svg; do # not the .png, which git ignores
        git add "paper/$study/results/$scale/$figure.$kind"
    done
    git diff --cached --quiet || git commit -qm "paper: $study/$figure at scale $scale"
done
