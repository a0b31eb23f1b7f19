#compdef fumehood
# Completes command lines of fumehood: the program itself says what a word can become.
_fumehood() {
	local line name kept
	local -a end shown
	for line in ${(f)"$(${~${(Q)words[1]}} help --complete -- "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)"}; do
		name=${line%%$'\t'*} kept=${line#*$'\t'} end=()
		case $name in
		:files) compset -P ${(b)kept}; _files ;;
		:folders) compset -P ${(b)kept}; _files -/ ;;
		*)
			if [[ $name == *: ]]; then end=(-S ''); fi
			shown=("$name  $kept")
			compadd $end -l -d shown -- "$name"
			;;
		esac
	done
}
if [[ $funcstack[1] == _fumehood ]]; then _fumehood "$@"; else compdef _fumehood fumehood; fi
