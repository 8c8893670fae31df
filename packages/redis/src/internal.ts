// For @leasehold/redis-quorum of the same version: a server as a member of a quorum.
export { configuredClient } from './configured-client.js'
export { NoFloorError } from './failure-of.js'
export { TOKEN_LIMIT } from './lease-operations.js'
export { type Floor, RedisMember, TOKEN_KEY } from './member/redis-member.js'
export { conditionsOf, durabilityOf, type ServerInfo } from './probe.js'
export { checkStoreOptions } from './redis-options.js'
