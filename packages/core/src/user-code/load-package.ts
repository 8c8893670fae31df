import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'

/** Imports a module. If this package does not see it, the application may: it sees all packages that it installed. */
export async function importFound(location: string, specifier: string): Promise<Record<string, unknown>> {
  return await import(location).catch((error: unknown) => {
    const own = isMissing(error, specifier) ? findInApplication(specifier) : undefined
    if (own === undefined) throw error
    return import(own)
  })
}

/** Imports a package that only one setting needs. Rejects with a `LeaseConfigurationError` if it is not installed. */
export async function loadForSetting(name: string, setting: string): Promise<Record<string, unknown>> {
  try {
    return await importFound(name, name)
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause
    const message = `${setting} needs the package '${name}', which is not installed: npm install ${name}`
    throw new LeaseConfigurationError(message, { cause })
  }
}

/** Whether an import failed because there is no such module. */
export function isMissing(error: unknown, specifier: string): boolean {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown }
  const missing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
  return missing && String(message).includes(specifier)
}

function findInApplication(specifier: string): string | undefined {
  try {
    return pathToFileURL(createRequire(join(process.cwd(), 'package.json')).resolve(specifier)).href
  } catch {
    return undefined
  }
}
