import { LeaseUnauthorisedError } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { isGranted } from './access-review.js'
import type { ApiClient } from './api/api-client.js'
import { roleFor } from './api/role.js'
import type { Layout } from './layouts/layout.js'

/**
 * Checks that a lease can be renewed before it is granted. The first grant of a name creates its object, which does not
 * need the verb `update`: without that verb, the lease would be granted, and lost one ttl later.
 */
export class RenewalPermission {
  readonly #client: ApiClient
  readonly #layout: Layout
  /** Whether the verb is granted on all objects, so that no further check is needed. */
  #isGeneral = false

  constructor(client: ApiClient, layout: Layout) {
    this.#client = client
    this.#layout = layout
  }

  /** Rejects with a `LeaseUnauthorisedError` if the server says that the lease cannot be renewed. */
  async require(leaseName: string, namespace: string, call: StoreCall): Promise<void> {
    if (this.#isGeneral) return
    const place = { client: this.#client, layout: this.#layout, namespace }
    this.#isGeneral = (await isGranted(place, 'update', undefined, call)) ?? false
    if (this.#isGeneral || (await isGranted(place, 'update', leaseName, call)) !== false) return
    const { resource } = this.#layout
    throw new LeaseUnauthorisedError(
      `the verb 'update' on ${resource.plural}.${resource.group} in namespace '${namespace}' is not granted: lease ` +
        `'${leaseName}' could be acquired, but not renewed. Apply this Role, and bind it to the service account:\n\n` +
        roleFor(resource, namespace, ['update']),
      { leaseName, store: 'kubernetes' },
    )
  }
}
