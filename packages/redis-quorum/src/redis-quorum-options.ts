import { type OptionsOf, ProviderOptions } from '@leasehold/core/store-kit'
import { redisOptions } from '@leasehold/redis'

const { username, password, caFile, prefix, recordLife, probe, compat } = redisOptions.declarations

/** The options of a block with `lease-class = "@leasehold/redis-quorum"`. */
export const redisQuorumOptions = new ProviderOptions('redis-quorum', {
  urls: {
    type: 'texts',
    example: '["redis://a", "redis://b", "redis://c"]',
    description: 'The URLs of three, five or more independent servers, a majority of which holds a lease.',
  },
  username,
  password,
  caFile,
  prefix,
  recordLife,
  probe,
  compat,
})

/** The options of a block, in the camel case of the code; absent options are `undefined`. Durations are milliseconds. */
export type RedisQuorumOptions = OptionsOf<(typeof redisQuorumOptions)['declarations']>
