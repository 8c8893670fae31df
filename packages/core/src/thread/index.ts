export { HeartbeatThread, type HeartbeatThreadOptions, type ThreadStoreOptions } from './heartbeat-thread.js'
