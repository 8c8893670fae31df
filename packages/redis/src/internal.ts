// For other packages of the same version: @leasehold/redis-quorum, with a server as a member, and @leasehold/sharding.
export { adapterFor } from './client/client-adapter.js'
export type { ClientAdapter } from './client/connection.js'
export { configuredClient } from './configured-client.js'
export { isDenied, NoFloorError } from './failure-of.js'
export { TOKEN_LIMIT } from './lease-operations.js'
export { type Floor, RedisMember, TOKEN_KEY } from './member/redis-member.js'
export { conditionsOf, durabilityOf, type ServerInfo } from './probe.js'
export { checkStoreOptions } from './redis-options.js'
