import type { ApiAnswer } from './api/api-answer.js'
import type { ApiClient } from './api/api-client.js'
import type { Verb } from './api/role.js'
import type { Layout } from './layouts/layout.js'
import { objectName } from './object-name.js'

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'

/** Where a verb is to be used. */
interface Objects {
  readonly client: ApiClient
  readonly layout: Layout
  readonly namespace: string
}

/**
 * Whether the server would grant a verb on the object of a lease, or on all objects of the kind where no lease is named;
 * `undefined` where it does not say.
 */
export async function isGranted(
  { client, layout, namespace }: Objects,
  verb: Verb,
  leaseName: string | undefined,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { group, plural } = layout.resource
  const name = leaseName === undefined ? {} : { name: objectName(leaseName) }
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { namespace, verb, group, resource: plural, ...name } },
  }
  const answer: ApiAnswer = await client.send({ method: 'POST', path: REVIEWS, body }, signal)
  const { status } = (answer.body ?? {}) as { status?: { allowed?: unknown } }
  return answer.status === 201 && typeof status?.allowed === 'boolean' ? status.allowed : undefined
}
