
# These do what two functions of the package bash-completion do, where that is missing.

# It sets cur, prev, words and cword. Bash splits words at = and :, the program does not.
__mcpgraph_words()
{
    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    local i word before rest=${COMP_LINE:0:COMP_POINT}
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i == COMP_CWORD)); then
            word=${rest#"${rest%%[![:space:]]*}"} # up to the cursor
        fi
        if ((i > 0)) && [[ ${rest} != [[:space:]]* && ( ${before} == *[=:] || ${word} == [=:]* ) ]]; then
            words[${#words[@]}-1]+=${word}
        else
            words+=("${word}")
        fi
        before=${word}
        rest=${rest#*"${word}"}
    done
    cword=$((${#words[@]} - 1))
    cur=${words[cword]}
    if ((cword > 0)); then
        prev=${words[cword-1]}
    fi
}

# It completes files with one of the endings in $1 (yaml|json|), and folders; with -d
# folders alone.
__mcpgraph_filedir()
{
    if declare -F _filedir >/dev/null 2>&1; then
        _filedir "$@"
        return
    fi
    local name ending
    compopt -o filenames 2>/dev/null
    while IFS= read -r name; do
        COMPREPLY+=("${name}")
    done < <(compgen -d -- "${cur}")
    if [[ ${1-} == -d ]]; then
        return
    fi
    local IFS='|'
    while IFS= read -r name; do
        if [[ -z ${1-} ]]; then
            COMPREPLY+=("${name}")
        fi
        for ending in ${1-}; do
            if [[ ${name} == *."${ending}" ]]; then
                COMPREPLY+=("${name}")
                break
            fi
        done
    done < <(compgen -f -- "${cur}")
}
