import { Redis } from 'ioredis'

/** A client without a queue, so that no command is sent late. */
export function openRedis(port: number, operationTimeout: number): Redis {
  const redis = new Redis(port, '127.0.0.1', {
    commandTimeout: operationTimeout,
    connectTimeout: operationTimeout,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    retryStrategy: () => 100,
  })
  // Its commands are rejected, too.
  redis.on('error', () => {})
  return redis
}
