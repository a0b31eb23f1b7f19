# @yaml
# signature: c
# docstring: c
c() {
	echo 2
}
