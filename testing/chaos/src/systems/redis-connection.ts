import { Redis } from 'ioredis'

/** Without a queue, so that no command is sent later than its caller waits for it. `limit`: of a command, in milliseconds. */
export function redisConnection(port: number, limit: number): Redis {
  const redis = new Redis(port, '127.0.0.1', {
    commandTimeout: limit,
    connectTimeout: limit,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    retryStrategy: () => 100,
  })
  // Its commands are rejected, too.
  redis.on('error', () => {})
  return redis
}
