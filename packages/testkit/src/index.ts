export {
  type Fault,
  type FaultPlan,
  type SeededFaultOptions,
  type StoreCall,
  type StoreOperation,
  seededFaults,
} from './fault.js'
export { FaultyStore, type FaultyStoreOptions } from './faulty-store.js'
export { type TestAnswer, TestLease, type TestLeaseOptions } from './test-lease.js'
export { VirtualClock } from './virtual-clock.js'
