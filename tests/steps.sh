# Steps that end whatever they started. Sourced by tests/all and .ci/run.
#
# Each step runs in a process group of its own: when the step ends, or the script is told to stop, what is left of that group is ended by its number.
set -m
group=

end_group() {
    [ -n "$group" ] || return 0
    kill -TERM -- "-$group" 2>/dev/null || true
    wait "$group" 2>/dev/null || true
    group=
}
trap end_group EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Runs a command, says what it is and how long it took, and gives its exit code.
step() {
    local code=0 began=$SECONDS
    printf '\n== %s\n' "$*"
    "$@" </dev/null &
    group=$!
    wait "$group" || code=$?
    end_group
    printf '== %s: exit %s after %s s\n' "$*" "$code" "$((SECONDS - began))"
    return "$code"
}
