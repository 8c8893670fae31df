// #region store
import { RedisLeaseStore } from '@leasehold/redis'
import { Redis } from '@upstash/redis'

/** Opens no connection: make it at the top of the module of your handler. */
export const store = new RedisLeaseStore(Redis.fromEnv())
// #endregion store
