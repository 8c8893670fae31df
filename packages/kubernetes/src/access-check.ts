import { LeaseUnauthorisedError } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { isGranted } from './access-review.js'
import { statusOf } from './api/api-answer.js'
import type { ApiClient } from './api/api-client.js'
import { pathOf } from './api/api-request.js'
import { roleFor, VERBS } from './api/role.js'
import { failureOf } from './failure-of.js'
import type { Layout } from './layouts/layout.js'
import { objectName } from './object-name.js'

export interface AccessQuestion {
  readonly client: ApiClient
  readonly layout: Layout
  readonly namespace: string
  readonly leaseName: string
}

/** See `KubernetesLeaseStore.checkAccess`. Nothing is written: the trial creation is a dry run. */
export async function checkAccess(question: AccessQuestion, call: StoreCall): Promise<readonly string[]> {
  const { client, layout, namespace, leaseName } = question
  const { resource, manifest } = layout
  const attempt = { resource, manifest, namespace, leaseName }
  const read = await client.send({ method: 'GET', path: pathOf(resource, namespace, objectName(leaseName)) }, call)
  const exists = read.status === 200
  const isAbsent = read.status === 404 && statusOf(read) !== undefined
  if (!exists && !isAbsent && read.status !== 403) throw failureOf(read, { ...attempt, verb: 'get' })
  const granted = await Promise.all(
    VERBS.map((verb) => isGranted(question, verb, verb === 'create' ? undefined : leaseName, call)),
  )
  const missing = VERBS.filter((_, place) => granted[place] === false)
  // An existing object need not be created, and a waiter that may not watch polls.
  const needed = missing.filter((verb) => verb !== 'watch' && !(verb === 'create' && exists))
  if (needed.length > 0) {
    throw new LeaseUnauthorisedError(
      `leases cannot be held in namespace '${namespace}': the service account lacks the verbs ${needed.join(', ')} on ${resource.plural}.` +
        `${resource.group}. Apply this Role, and bind it to the service account:\n\n${roleFor(resource, namespace, missing)}`,
      { leaseName, store: 'kubernetes' },
    )
  }
  if (!exists) await tryToCreate(question, call)
  return missing.map((verb) =>
    verb === 'watch'
      ? "the verb 'watch' is missing: waiters poll, and notice a release later; holders notice changes by other programs later"
      : `the verb '${verb}' is missing: the lease cannot be acquired again after its object is deleted`,
  )
}

/** A GET in a missing namespace answers like one for a missing object; only a creation shows the difference. */
async function tryToCreate({ client, layout, namespace, leaseName }: AccessQuestion, call: StoreCall): Promise<void> {
  const { group, version, kind } = layout.resource
  const body = {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name: objectName(leaseName), namespace },
    spec: {},
  }
  const path = pathOf(layout.resource, namespace)
  const answer = await client.send({ method: 'POST', path, query: { dryRun: 'All' }, body }, call)
  if (answer.status === 201 || answer.status === 409) return
  const { resource, manifest } = layout
  throw failureOf(answer, { verb: 'create', resource, manifest, namespace, leaseName })
}
