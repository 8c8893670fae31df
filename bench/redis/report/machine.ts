import { cpus, release } from 'node:os'
import { versionOf } from '../rivals.js'

/** On what it was measured, in one sentence. */
export function machine(redisVersion: string): string {
  const [cpu] = cpus()
  const software = `Node ${process.version}, redis-server ${redisVersion}, ioredis ${versionOf('ioredis')}`
  return `${software}, ${process.platform} ${release()}, ${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}`
}
