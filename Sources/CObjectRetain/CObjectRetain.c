#include "CObjectRetain.h"
