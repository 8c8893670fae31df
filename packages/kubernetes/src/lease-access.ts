import { LeaseUnauthorisedError } from '@leasehold/core'
import type { StoreCall, StoreFinding } from '@leasehold/core/store'
import { untilAborted } from '@leasehold/core/store-kit'
import { statusOf } from './api/api-answer.js'
import type { ApiClient } from './api/api-client.js'
import { pathOf } from './api/api-request.js'
import { ROLE_ADVICE, roleFor, VERBS, type Verb } from './api/role.js'
import { failureOf } from './failure-of.js'
import { refuserOf } from './forbidden.js'
import type { LeaseKind } from './layouts/layout.js'
import { objectName } from './object-name.js'

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'

export class LeaseAccess {
  readonly #client: ApiClient
  readonly #resource: LeaseKind
  /** Whether `update` is granted on all objects, so that no further check is needed. */
  #canUpdateAll = false
  /** The check that is under way: leases that are acquired at once share it. */
  #checking: Promise<boolean | undefined> | undefined

  constructor(client: ApiClient, resource: LeaseKind) {
    this.#client = client
    this.#resource = resource
  }

  /**
   * Checks that a lease can be renewed before it is granted. The first grant of a name creates its object, which does not
   * need the verb `update`: without that verb, the lease would be granted, and lost one ttl later. Rejects with a
   * `LeaseUnauthorisedError` if the server says that the lease cannot be renewed.
   */
  async requireRenewal(leaseName: string, call: StoreCall): Promise<void> {
    if (this.#canUpdateAll) return
    this.#canUpdateAll = (await this.#isUpdateGranted(call)) ?? false
    if (this.#canUpdateAll || (await this.#isGranted('update', leaseName, call)) !== false) return
    const namespace = await this.#client.namespace()
    const { plural, group } = this.#resource
    throw new LeaseUnauthorisedError(
      `the verb 'update' on ${plural}.${group} in namespace '${namespace}' is not granted: lease '${leaseName}' could be ` +
        `acquired, but not renewed. ${roleFor(this.#resource, namespace, ['update'])}`,
      { leaseName, store: 'kubernetes' },
    )
  }

  /** Whether `update` is granted on all objects. */
  async #isUpdateGranted(call: StoreCall): Promise<boolean | undefined> {
    this.#checking ??= this.#isGranted('update', undefined, call).finally(() => {
      this.#checking = undefined
    })
    try {
      return await untilAborted(this.#checking, call)
    } catch (error) {
      if (call.aborted) throw error
      // The call that began the check may have ended before.
      return await this.#isGranted('update', undefined, call)
    }
  }

  /** See `KubernetesLeaseStore.checkAccess`. Nothing is written: the trial creation is a dry run. */
  async check(leaseName: string, call: StoreCall): Promise<readonly string[]> {
    const namespace = await this.#client.namespace()
    const resource = this.#resource
    const path = pathOf(resource, namespace, objectName(leaseName))
    const read = await this.#client.send({ method: 'GET', path }, call)
    const exists = read.status === 200
    const isAbsent = read.status === 404 && statusOf(read) !== undefined
    // The requests below find out which verbs are missing.
    if (!exists && !isAbsent && refuserOf(read) !== 'permission') {
      throw failureOf(read, { verb: 'get', resource, namespace, leaseName })
    }
    const granted = await Promise.all(
      VERBS.map((verb) => this.#isGranted(verb, verb === 'create' ? undefined : leaseName, call)),
    )
    const missing = VERBS.filter((_, place) => granted[place] === false)
    // An existing object need not be created, and a waiter that may not watch polls.
    const needed = missing.filter((verb) => verb !== 'watch' && !(verb === 'create' && exists))
    if (needed.length > 0) {
      throw new LeaseUnauthorisedError(
        `leases cannot be held in namespace '${namespace}': the service account lacks the verbs ${needed.join(', ')} on ` +
          `${resource.plural}.${resource.group}. ${roleFor(resource, namespace, missing)}`,
        { leaseName, store: 'kubernetes' },
      )
    }
    if (!exists) await this.#tryToCreate(leaseName, namespace, call)
    return missing.map((verb) =>
      verb === 'watch'
        ? "the verb 'watch' is missing: waiters poll, and notice a release later; holders notice changes by other programs later"
        : `the verb '${verb}' is missing: the lease cannot be acquired again after its object is deleted`,
    )
  }

  /** See `KubernetesLeaseStore.probe`. Nothing is written. */
  async probe(leaseName: string, call: StoreCall): Promise<readonly StoreFinding[]> {
    const check = 'permissions'
    try {
      const missing = await this.check(leaseName, call)
      if (missing.length === 0) return [{ check, result: 'ok' }]
      return [{ check, result: 'warning', found: missing.join('; '), change: 'grant the verb in the Role' }]
    } catch (error) {
      const [found = '', role] = error instanceof LeaseUnauthorisedError ? error.message.split(ROLE_ADVICE) : []
      // Without a Role to apply, the credentials are wrong.
      if (role === undefined) throw error
      return [{ check, result: 'failed', setting: 'Role', found: found.trimEnd(), change: ROLE_ADVICE + role }]
    }
  }

  /**
   * Whether the server grants a verb on the object of a lease, or on all objects of the kind if no lease is given;
   * `undefined` if the server does not answer that.
   */
  async #isGranted(verb: Verb, leaseName: string | undefined, call: StoreCall): Promise<boolean | undefined> {
    const { group, plural: resource } = this.#resource
    const namespace = await this.#client.namespace()
    const name = leaseName === undefined ? {} : { name: objectName(leaseName) }
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { namespace, verb, group, resource, ...name } },
    }
    const answer = await this.#client.send({ method: 'POST', path: REVIEWS, body }, call)
    const { status } = (answer.body ?? {}) as { status?: { allowed?: unknown } }
    return answer.status === 201 && typeof status?.allowed === 'boolean' ? status.allowed : undefined
  }

  /** A GET in a missing namespace answers like one for a missing object; only a creation shows the difference. */
  async #tryToCreate(leaseName: string, namespace: string, call: StoreCall): Promise<void> {
    const resource = this.#resource
    const { group, version, kind } = resource
    const metadata = { name: objectName(leaseName), namespace }
    const body = { apiVersion: `${group}/${version}`, kind, metadata, spec: {} }
    const path = pathOf(resource, namespace)
    const answer = await this.#client.send({ method: 'POST', path, query: { dryRun: 'All' }, body }, call)
    if (answer.status === 201 || answer.status === 409) return
    throw failureOf(answer, { verb: 'create', resource, namespace, leaseName })
  }
}
