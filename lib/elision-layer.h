// SPDX-License-Identifier: Apache-2.0
//
// The transaction layer of this build of the library: the hardware, or what
// OVSTHREAD_TRANSACTION_LAYER names: a header that declares
// ovsthread::TransactionLayer.
#ifndef OVSTHREAD_LIB_ELISION_LAYER_H_
#define OVSTHREAD_LIB_ELISION_LAYER_H_

#ifdef OVSTHREAD_TRANSACTION_LAYER
#include OVSTHREAD_TRANSACTION_LAYER
#else
#include "elision-rtm.h"
namespace ovsthread {
using TransactionLayer = RtmLayer;
}  // namespace ovsthread
#endif

#endif  // OVSTHREAD_LIB_ELISION_LAYER_H_
