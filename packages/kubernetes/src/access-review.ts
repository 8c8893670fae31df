import type { StoreCall } from '@leasehold/core/store'
import type { ApiAnswer } from './api/api-answer.js'
import type { ApiClient } from './api/api-client.js'
import type { Verb } from './api/role.js'
import type { Layout } from './layouts/layout.js'
import { objectName } from './object-name.js'

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'

interface Objects {
  readonly client: ApiClient
  readonly layout: Layout
  readonly namespace: string
}

/**
 * Whether the server grants a verb on the object of a lease, or on all objects of the kind if no lease is given;
 * `undefined` if the server does not answer that.
 */
export async function isGranted(
  { client, layout, namespace }: Objects,
  verb: Verb,
  leaseName: string | undefined,
  call: StoreCall,
): Promise<boolean | undefined> {
  const { group, plural } = layout.resource
  const name = leaseName === undefined ? {} : { name: objectName(leaseName) }
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { namespace, verb, group, resource: plural, ...name } },
  }
  const answer: ApiAnswer = await client.send({ method: 'POST', path: REVIEWS, body }, call)
  const { status } = (answer.body ?? {}) as { status?: { allowed?: unknown } }
  return answer.status === 201 && typeof status?.allowed === 'boolean' ? status.allowed : undefined
}
