/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help.h"

#include "completion.bash.h"
#include "completion.fish.h"
#include "completion.zsh.h"

const char *const completion_shells[] = { "bash", "zsh", "fish", NULL };
const char *const completion_scripts[] = { completion_bash, completion_zsh, completion_fish };
