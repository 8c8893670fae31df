import { LeaseUnauthorisedError } from '@leasehold/core'
import { isGranted } from './access-review.js'
import type { ApiClient } from './api/api-client.js'
import { roleFor } from './api/role.js'
import type { Layout } from './layouts/layout.js'

/**
 * Whether a lease could be renewed once it is granted. The first grant of a name creates its object, for which the verb
 * `update` is not needed: without it, the lease would be granted, and lost one ttl later.
 */
export class RenewalPermission {
  readonly #client: ApiClient
  readonly #layout: Layout
  /** Whether the verb was granted on all objects, so that it need not be asked for again. */
  #isGeneral = false

  constructor(client: ApiClient, layout: Layout) {
    this.#client = client
    this.#layout = layout
  }

  /** Rejects with a `LeaseUnauthorisedError` where the server says that the lease could not be renewed. */
  async require(leaseName: string, namespace: string, signal: AbortSignal): Promise<void> {
    if (this.#isGeneral) return
    const place = { client: this.#client, layout: this.#layout, namespace }
    this.#isGeneral = (await isGranted(place, 'update', undefined, signal)) ?? false
    if (this.#isGeneral || (await isGranted(place, 'update', leaseName, signal)) !== false) return
    const { resource } = this.#layout
    throw new LeaseUnauthorisedError(
      `the verb 'update' on ${resource.plural}.${resource.group} in namespace '${namespace}' is not granted: lease ` +
        `'${leaseName}' could be acquired, but not renewed. Apply this Role, and bind it to the service account:\n\n` +
        roleFor(resource, namespace, ['update']),
      { leaseName, store: 'kubernetes' },
    )
  }
}
