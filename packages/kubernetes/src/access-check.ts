import { LeaseUnauthorisedError } from '@leasehold/core'
import { type ApiAnswer, statusOf } from './api/api-answer.js'
import type { ApiClient } from './api/api-client.js'
import { pathOf } from './api/api-request.js'
import { failureOf } from './api/failures.js'
import { roleFor, VERBS, type Verb } from './api/role.js'
import type { Layout } from './layouts/layout.js'
import { objectName } from './object-name.js'

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'

/** Which lease is to be held, and where. */
export interface AccessQuestion {
  readonly client: ApiClient
  readonly layout: Layout
  readonly namespace: string
  readonly leaseName: string
}

/** See `KubernetesLeaseStore.checkAccess`. Nothing is written: the creation that is tried is a dry run. */
export async function checkAccess(question: AccessQuestion, signal: AbortSignal): Promise<readonly string[]> {
  const { client, layout, namespace, leaseName } = question
  const { resource, manifest } = layout
  const attempt = { resource, manifest, namespace, leaseName }
  const read = await client.send({ method: 'GET', path: pathOf(resource, namespace, objectName(leaseName)) }, signal)
  const exists = read.status === 200
  const isAbsent = read.status === 404 && statusOf(read) !== undefined
  if (!exists && !isAbsent && read.status !== 403) throw failureOf(read, { ...attempt, verb: 'get' })
  const granted = await Promise.all(VERBS.map((verb) => isGranted(question, verb, signal)))
  const missing = VERBS.filter((_, place) => granted[place] === false)
  // Where the object is there already, it need not be made; and a waiter who may not watch polls.
  const needed = missing.filter((verb) => verb !== 'watch' && !(verb === 'create' && exists))
  if (needed.length > 0) {
    throw new LeaseUnauthorisedError(
      `leases cannot be held in namespace '${namespace}': missing the verbs ${needed.join(', ')} on ${resource.plural}.` +
        `${resource.group}. Apply this Role, and bind it to the service account:\n\n${roleFor(resource, namespace, missing)}`,
      { leaseName, store: 'kubernetes' },
    )
  }
  if (!exists) await tryToCreate(question, signal)
  return missing.map((verb) =>
    verb === 'watch'
      ? "the verb 'watch' is missing: those who wait poll, and learn of a release later"
      : `the verb '${verb}' is missing: the lease cannot be held any more once its object is deleted`,
  )
}

/** `undefined` where the server does not say. */
async function isGranted(
  { client, layout, namespace, leaseName }: AccessQuestion,
  verb: Verb,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { group, plural } = layout.resource
  const name = verb === 'create' ? {} : { name: objectName(leaseName) }
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { namespace, verb, group, resource: plural, ...name } },
  }
  const answer: ApiAnswer = await client.send({ method: 'POST', path: REVIEWS, body }, signal)
  const { status } = (answer.body ?? {}) as { status?: { allowed?: unknown } }
  return answer.status === 201 && typeof status?.allowed === 'boolean' ? status.allowed : undefined
}

/** Only this shows that the namespace is missing: an object in it is then simply not found. */
async function tryToCreate(
  { client, layout, namespace, leaseName }: AccessQuestion,
  signal: AbortSignal,
): Promise<void> {
  const { group, version, kind } = layout.resource
  const body = {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name: objectName(leaseName), namespace },
    spec: {},
  }
  const path = pathOf(layout.resource, namespace)
  const answer = await client.send({ method: 'POST', path, query: { dryRun: 'All' }, body }, signal)
  if (answer.status === 201 || answer.status === 409) return
  const { resource, manifest } = layout
  throw failureOf(answer, { verb: 'create', resource, manifest, namespace, leaseName })
}
