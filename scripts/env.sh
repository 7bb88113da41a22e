# shellcheck shell=bash
# Read by scripts/run and scripts/test: makes and checks their environment, .venv in the project.
# Written for bash 3.2 as macOS has it. A second start comes through here in a few milliseconds.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv
done_dir=$venv/.installed    # copies of what the environment was last made from
log=$venv/install.log

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# The first Python that is new enough and can make environments. Prints its command.
find_python() {
    local name found=
    set -- python3 python3.13 python3.12 python3.11 python3.14
    [ -z "${PYTHON:-}" ] || set -- "$PYTHON"
    for name in "$@"; do
        "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue
        found=${found:-$name}
        "$name" -c 'import ensurepip, venv' >/dev/null 2>&1 || continue
        printf '%s\n' "$name"
        return
    done
    [ -n "$found" ] || fail "Python 3.11 or newer is needed and was not found; install it" \
        "(Debian, Ubuntu: apt-get install python3 python3-venv; macOS: brew install python@3.13)" \
        "or name one: PYTHON=/path/to/python3.11 $0"
    name=$("$found" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
    fail "This $name cannot make environments; run \`apt-get install $name-venv\` as root (or with" \
        "sudo) and start again."
}

# Whether .venv was made here, for this project folder, from the lock file $1 as it is now.
is_ready() {
    [ -x "$venv/bin/voiceagent" ] && [ "$root" = "$(cat "$done_dir/root" 2>/dev/null)" ] &&
        cmp -s "$root/pyproject.toml" "$done_dir/pyproject.toml" &&
        cmp -s "$root/$1" "$done_dir/$1"
}

# Two first starts at once (run, and test from another shell) take turns.
take_turn() {
    local told="" holder
    mkdir -p "$venv" || fail "Cannot write $venv."
    until mkdir "$venv/.preparing" 2>/dev/null; do
        holder=$(cat "$venv/.preparing/pid" 2>/dev/null || true)
        if [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null; then
            rm -rf "$venv/.preparing"    # its holder was killed
            continue
        fi
        [ -n "$told" ] || echo "Another start is preparing the environment; waiting for it."
        told=yes
        sleep 1
    done
    trap end_turn EXIT
    trap 'exit 130' INT TERM
    echo $$ >"$venv/.preparing/pid"
}

end_turn() {
    rm -rf "$venv/.preparing"
    trap - EXIT INT TERM
}

pip_install() {
    PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1 \
        "$venv/bin/python" -m pip install --no-input --progress-bar off "$@" 2>>"$log"
}

# Show on a terminal how many packages have come; keep all that pip says in the log.
count_packages() {
    if [ -t 2 ]; then
        tee -a "$log" | awk '/^ *Downloading|^ *Using cached/ { n++; printf "\r  %d packages", n
            fflush() } END { if (n) print "" }' >&2
    else
        cat >>"$log"
    fi
}

install_failed() {
    local reason
    reason=$(grep -E '^ERROR:|No space left' "$log" | tail -n 1 | cut -c 1-300) || true
    if grep -qE 'connection broken|NewConnectionError|Max retries' "$log"; then
        fail "The package index could not be reached; check the network or pip's proxy settings" \
            "(\`pip config list\`), then start again. The whole story is in $log."
    fi
    case $reason in
    *"No space left"*) fail "The disk is full: free some space (1 GB is needed in $root)." ;;
    *"No matching distribution"* | *"not a supported wheel"*)
        fail "A package is not to be had for this system or index ($reason); needed are Linux" \
            "with glibc 2.28 or macOS 14 on Apple silicon, Python 3.11 to 3.14 and a package" \
            "index (\`pip config list\` shows yours). The whole story is in $log." ;;
    esac
    fail "Installing the packages failed (${reason:-see the log}); mend that and start again. The" \
        "whole story is in $log."
}

# What is installed may still miss a library of the system: say which before the server does.
check_native() {
    local said
    said=$("$venv/bin/python" -c 'import onnxruntime, ctranslate2, xllamacpp' 2>&1) && return
    case $said in
    *libgomp*) fail "The system's libgomp is missing; run \`apt-get install libgomp1\` as root" \
        "(or sudo) and start again." ;;
    esac
    fail "An installed package does not load: $(printf '%s' "$said" | tail -n 1)"
}

make_environment() {
    local python
    if [ "$root" = "$(cat "$done_dir/root" 2>/dev/null)" ] &&
        "$venv/bin/python" -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>>"$log"; then
        return
    fi
    python=$(find_python) || exit 1
    echo "Making .venv with $("$python" --version) ($(command -v "$python"))"
    rm -rf "$venv"/bin "$venv"/lib* "$venv"/include "$venv"/pyvenv.cfg
    "$python" -m venv "$venv" >>"$log" 2>&1 || fail "Cannot make $venv; see $log."
    mkdir -p "$done_dir"
    echo "$root" >"$done_dir/root"
}

# Make .venv hold what the lock file $1 names, and the project itself.
prepare() {
    is_ready "$1" && return
    take_turn
    if ! is_ready "$1"; then
        : >"$log"
        make_environment
        rm -f "$done_dir/pyproject.toml" "$done_dir"/*.lock
        echo "Installing the packages of $1 (once; the log is .venv/install.log)"
        # Byte code is left to each module's first import: most of scipy is never imported.
        pip_install --require-hashes --only-binary :all: --no-deps --no-compile -r "$root/$1" |
            count_packages || install_failed
        pip_install --no-deps --no-build-isolation --no-index -e "$root" >>"$log" || install_failed
        check_native
        # What tests need holds what serving needs, in the same versions: both are ready then.
        cp "$root/pyproject.toml" "$root/requirements.lock" "$done_dir/"
        [ "$1" = requirements.lock ] || cp "$root/$1" "$done_dir/"
    fi
    end_turn
}
