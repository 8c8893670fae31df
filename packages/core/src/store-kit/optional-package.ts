import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { isMissing } from '../user-code/load-package.js'

/** A package that only one way of use needs: an optional peer. */
export interface OptionalPackage {
  readonly name: string
  /** What needs it; begins the message of the error: 'a kubeconfig'. */
  readonly neededBy: string
  /** What works without it, for the end of the message. */
  readonly advice?: string
  readonly store: string
}

/**
 * The module that `load` imports: one of the package, or one of ours that imports it. Rejects with a
 * `LeaseConfigurationError` that says how to install the package, if it is not there.
 */
export async function importOptional<M>(
  { name, neededBy, advice, store }: OptionalPackage,
  load: () => Promise<M>,
): Promise<M> {
  try {
    return await load()
  } catch (cause) {
    if (!isMissing(cause, `'${name}'`)) throw cause
    const message = `${neededBy} needs ${name}: npm install ${name}${advice === undefined ? '' : `. ${advice}`}`
    throw new LeaseConfigurationError(message, { store, cause })
  }
}
