import { provideFence } from '@leasehold/core/internal'
import { createFence } from './self-fence.js'

export { createFence } from './self-fence.js'

provideFence(createFence)
