// For @leasehold/heartbeat-thread and @leasehold/self-fence, of the same version. Nothing here is a part of the API.

export {
  type GrantKeeper,
  type GrantToKeep,
  grantKeeper,
  type KeptGrant,
  type KeptLease,
  type SharedDeadline,
} from './engine/grant-keeper.js'
export { type Fence, type FenceMaker, provideFence } from './engine/self-fence.js'
export { shownValue } from './errors/shown-value.js'
export { isPlainStoreLease } from './lease/is-lease.js'
export { toLeaseSettings } from './provider/lease-block.js'
export { loadFactory } from './provider/load-factory.js'
export { acknowledgeTime, askBefore } from './settings/fence-times.js'
export { createOwner } from './settings/owner.js'
export { Deferred } from './time/deferred.js'
export { settledInTime } from './time/in-time.js'
export { createTimeMemory, SharedTime, type TimeMemory } from './time/shared-time.js'
export { BOOT_STEP } from './time/system-clock.js'
