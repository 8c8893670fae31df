/// <reference path="./fs-native-extensions.d.ts" />
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { LeaseConfigurationError } from '@leasehold/core'

/** The operating system's lock of a file, from native code. */
export type SystemLock = Pick<typeof import('fs-native-extensions'), 'waitForLockSync' | 'unlock'>

/**
 * Loads the native code, which exists for some platforms only: stores work without it, so it is loaded for a guard only.
 * Throws a `LeaseConfigurationError` that names the alternatives.
 */
export function loadSystemLock(): SystemLock {
  try {
    return requireOf()('fs-native-extensions')
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
    throw new LeaseConfigurationError(
      'LocalGuard needs native code that cannot be loaded here: fs-native-extensions on ' +
        `${process.platform}-${process.arch} (${reason}). Install it, and on Alpine Linux use an image with glibc, such ` +
        'as node:20-slim. Or check the fencing token elsewhere: with the guard of another store, or in the statement that ' +
        'writes. LocalLeaseStore itself needs no native code',
      { store: 'local', cause: error },
    )
  }
}

/** In a bundle of CommonJS, `import.meta` is empty: the application's packages are found from its working directory. */
function requireOf(): NodeJS.Require {
  return createRequire(import.meta.url ?? join(process.cwd(), 'package.json'))
}
