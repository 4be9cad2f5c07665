// The driver: the library with which the command line, a service or a test plans, applies and destroys.
//
// In:  a Host (host.h) per user, and requests.
// Out: values: projects with their findings, plans, forecasts, rounds; statuses, some of which are questions
//      (states.h); notices (notice.h); and the run's numbered events (runtime/run/event_hub.h).
//
// It never prints, asks, exits or reads the process. apply.h shows a complete run. A front end may include
// this header, or only the parts that it uses.
#pragma once

#include "runtime/driver/apply.h"
#include "runtime/driver/autoscale.h"
#include "runtime/driver/destroy.h"
#include "runtime/driver/given_back.h"
#include "runtime/driver/host.h"
#include "runtime/driver/jobs.h"
#include "runtime/driver/logs.h"
#include "runtime/driver/machinery.h"
#include "runtime/driver/nodes.h"
#include "runtime/driver/notice.h"
#include "runtime/driver/plan_forecasts.h"
#include "runtime/driver/plan_request.h"
#include "runtime/driver/preview.h"
#include "runtime/driver/prices_elsewhere.h"
#include "runtime/driver/project.h"
#include "runtime/driver/project_state.h"
#include "runtime/driver/protection.h"
#include "runtime/driver/states.h"
