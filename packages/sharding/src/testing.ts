export { memoryState } from './memory-state.js'
export {
  MemoryNetwork,
  type MemoryNetworkOptions,
  type MemoryTransportOptions,
  memoryTransport,
} from './memory-transport.js'
export { type StateLaw, stateLaws } from './state/state-laws.js'
export { TestProcess, TestRegion, type TestRegionOptions, testRegion } from './test-region.js'
