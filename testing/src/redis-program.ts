import { readFileSync } from 'node:fs'
import { type ServerProgram, serverProgram } from './server-program.js'

/** The server of all tests of Redis: with `REDIS_SERVER=$VALKEY_SERVER`, they run on Valkey. */
export const redisProgram = serverProgram('REDIS_SERVER', 'redis-server')

/** The fork of Redis 7.2, which the same clients and scripts use. */
export const valkeyProgram = serverProgram('VALKEY_SERVER', 'valkey-server')

/** Why the program does not speak TLS: it is built with or without it. */
export function whyNoTls({ path, whyNot }: ServerProgram): string | undefined {
  if (path === undefined) return whyNot
  return readFileSync(path).includes('SSL_CTX_')
    ? undefined
    : `${path} is built without TLS: build it with BUILD_TLS=yes`
}
