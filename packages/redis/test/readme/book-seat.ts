import type { RedisGuard } from '@leasehold/redis'

// #region script
const takeSeat = `
  if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 1 then return 0 end
  redis.call('SADD', KEYS[1], ARGV[1])
  return 1
`

/** Whether the seat was free. Rejects with a LeaseLostError if a larger token has written the key. */
export async function bookSeat(guard: RedisGuard, fencingToken: bigint, flight: string, seat: string) {
  return (await guard.transact(`seats:${flight}`, fencingToken, { script: takeSeat, args: [seat] })) === 1
}
// #endregion script
