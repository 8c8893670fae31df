export { LeaseCoordinator, type LeaseCoordinatorOptions } from './lease-coordinator.js'
