/* SPDX-License-Identifier: Apache-2.0 */
#include <fumehood/version.h>

#include "fumehood-build.h"

const char *fh_version(void)
{
	return FUMEHOOD_VERSION;
}

int fh_api_version(void)
{
	return FH_API_VERSION;
}
