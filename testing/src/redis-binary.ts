import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const asked = process.env.REDIS_SERVER ?? ''

/** The path of `redis-server`; `undefined` where this machine has none. */
export const redisBinary: string | undefined =
  asked === '' ? onPath('redis-server') : isProgram(asked) ? asked : undefined

/** Why there are no real servers here; `undefined` where there are. */
export const whyNoRedis: string | undefined = redisBinary === undefined ? whyNot() : undefined

function whyNot(): string {
  const missing = asked === '' ? 'redis-server was not found' : `REDIS_SERVER (${asked}) is no program`
  return `${missing}: install Debian's redis-server package or set REDIS_SERVER`
}

function onPath(program: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.map((folder) => join(folder, program)).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
