import type { Redis } from 'ioredis'
import type { GuardedRegister } from '../systems/system.js'

/** Accepts every write: locks without fencing tokens leave it nothing that it could compare. */
export function plainRegister(redis: Redis, name: string): GuardedRegister {
  const key = `register:${name}`
  return {
    write: async (value) => {
      await redis.set(key, value)
      return 'accepted'
    },
    read: async () => (await redis.get(key)) ?? undefined,
  }
}
