import { accessSync, constants } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

/** The program of a server on this machine. */
export interface ServerProgram {
  /** `undefined` where this machine has none. */
  readonly path: string | undefined
  /** Why there are no real servers here; `undefined` where there are. */
  readonly whyNot: string | undefined
}

/**
 * Finds a program by the environment variable, on the path, or in the cache of downloaded servers: `SERVER_CACHE`, or
 * `~/.cache/test-servers`. `folder`: that of the program in the cache, which has another name for another version.
 */
export function serverProgram(variable: string, program: string, folder: string = program): ServerProgram {
  const asked = process.env[variable] ?? ''
  const cache = process.env.SERVER_CACHE ?? join(homedir(), '.cache', 'test-servers')
  // A program on the path is of the ordinary version.
  const onPath = folder === program ? (process.env.PATH ?? '').split(delimiter).filter((entry) => entry !== '') : []
  const folders = [...onPath, join(cache, folder)]
  const path = [asked === '' ? folders.map((entry) => join(entry, program)) : [asked]].flat().find(isProgram)
  if (path !== undefined) return { path, whyNot: undefined }
  const missing = asked === '' ? `${program} was not found` : `${variable} (${asked}) is no program`
  return { path, whyNot: `${missing}: install ${program} or set ${variable}` }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
