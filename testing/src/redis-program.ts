import { serverProgram } from './server-program.js'

export const redisProgram = serverProgram('REDIS_SERVER', 'redis-server')

/** The fork of Redis 7.2, which the same clients and scripts use. */
export const valkeyProgram = serverProgram('VALKEY_SERVER', 'valkey-server')
