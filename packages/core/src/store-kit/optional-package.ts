import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { isMissing } from '../user-code/load-package.js'

/** A package that only one way of use needs: an optional peer. */
export interface OptionalPackage {
  readonly name: string
  /** For npm; the name unless given. */
  readonly install?: string
  /** What needs it; begins the message of the error: 'a kubeconfig'. */
  readonly neededBy: string
  /** What works without it, or which version works where; ends the message. */
  readonly advice?: string
  readonly store: string
}

/**
 * The module that `load` imports: one of the package, or one of ours that imports it. Rejects with a
 * `LeaseConfigurationError` that says how to install the package, if it is not there or cannot be loaded.
 */
export async function importOptional<M>(
  { name, install = name, neededBy, advice, store }: OptionalPackage,
  load: () => Promise<M>,
): Promise<M> {
  try {
    return await load()
  } catch (cause) {
    const reason = isMissing(cause, `'${name}'`) ? '' : `, which cannot be loaded (${(cause as Error).message})`
    const message = `${neededBy} needs ${name}${reason}: npm install ${install}${advice === undefined ? '' : `. ${advice}`}`
    throw new LeaseConfigurationError(message, { store, cause })
  }
}
