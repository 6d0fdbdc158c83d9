// cooperative_groups/reduce.h -- reductions over a group.
#pragma once
#include "../cooperative_groups.h"
