# shellcheck shell=bash
# Completes command lines of fumehood: the program itself says what a word can become.
_fumehood() {
	local line=${COMP_LINE:0:COMP_POINT} last=${2//\\/} candidate about kept
	local -a words
	# shellcheck disable=SC2162 # "\ " is a blank in a word
	read -a words <<<"$line"
	if [[ $line == *[[:space:]] ]]; then words+=(''); fi
	# Bash replaces only what follows the last of its own separators, such as "=" and ":".
	kept=${words[-1]%"$last"}
	COMPREPLY=()
	while IFS=$'\t' read -r candidate about; do
		case $candidate in
		:files | :folders)
			compopt -o filenames
			if [[ $candidate == :files ]]; then about=-f; else about=-d; fi
			mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "$about" -- "$last")
			;;
		*) COMPREPLY+=("${candidate#"$kept"}") ;;
		esac
	done < <("${words[0]/#\~/$HOME}" help --complete -- "${words[@]:1}" 2>/dev/null)
	if [[ ${COMPREPLY[0]} == *: ]]; then compopt -o nospace; fi
}
complete -F _fumehood fumehood
