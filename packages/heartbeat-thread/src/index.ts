export { HeartbeatThread, type ThreadStoreOptions } from './heartbeat-thread.js'
export type { HeartbeatThreadOptions } from './thread-link.js'
