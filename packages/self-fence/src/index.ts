import { provideFence } from '@leasehold/core/internal'
import { createFence } from './self-fence.js'

export { createDeadlineMemory, type Deadline, Deadlines } from './deadlines.js'
export { createFence, SelfFence } from './self-fence.js'
export { type DeadlineKeeper, Watchdog } from './watchdog.js'

provideFence(createFence)
