import {
  type LeaseFactory,
  type LeaseFactoryContext,
  LeaseUnavailableError,
  OptionValues,
  StoreLease,
  systemClock,
} from '@leasehold/core'
import { KubernetesLeaseStore } from './kubernetes-lease-store.js'
import type { KubernetesLeaseStoreOptions } from './kubernetes-options.js'
import type { LayoutName } from './layouts/layout.js'

/** For how long the start-up check may take, in milliseconds: a server that is away must not hold up the start. */
const CHECK_TIMEOUT = 5_000

type BlockKey = keyof KubernetesLeaseStoreOptions | 'checkAccess'

const makeLease: LeaseFactory = async (settings, context) => {
  const { clock, logger, share } = context
  const values = new OptionValues<BlockKey>('kubernetes', settings.options)
  const options = optionsIn(values)
  // A clock that is not the machine's is a test's; the store's must then be the same.
  const time = clock === systemClock ? {} : { clock }
  const store = await share(`kubernetes:${JSON.stringify(options)}`, async () => {
    const opened = new KubernetesLeaseStore({ ...options, ...time, logger })
    if (values.switch('checkAccess') ?? true) await check(opened, settings.name, context)
    return opened
  })
  return new StoreLease(settings, store, { clock, logger })
}

/**
 * The factory of leases in a Kubernetes cluster, what `lease-class = "@leasehold/kubernetes"` names: all leases of one
 * provider and one block share their store. The first one asks the server whether leases can be held at all, and rejects
 * with a `LeaseUnauthorisedError` or a `LeaseConfigurationError` where they cannot.
 */
export const kubernetesLease: LeaseFactory = Object.assign(makeLease, {
  optionKeys: [
    'layout',
    'namespace',
    'kubeconfigFile',
    'context',
    'serviceAccountFolder',
    'maxTtl',
    'watch',
    'jvmHeartbeatTimeout',
    'jvmHeartbeatInterval',
    'maxClockSkew',
    'checkAccess',
  ] satisfies BlockKey[],
})

function optionsIn(values: OptionValues<BlockKey>): KubernetesLeaseStoreOptions {
  return {
    layout: values.text('layout') as LayoutName | undefined,
    namespace: values.text('namespace'),
    kubeconfigFile: values.text('kubeconfigFile'),
    context: values.text('context'),
    serviceAccountFolder: values.text('serviceAccountFolder'),
    maxTtl: values.duration('maxTtl'),
    watch: values.switch('watch'),
    jvmHeartbeatTimeout: values.duration('jvmHeartbeatTimeout'),
    jvmHeartbeatInterval: values.duration('jvmHeartbeatInterval'),
    maxClockSkew: values.duration('maxClockSkew'),
  }
}

/** What cannot be found out now is found out by the first acquisition. */
async function check(store: KubernetesLeaseStore, name: string, { clock, logger }: LeaseFactoryContext): Promise<void> {
  const late = new AbortController()
  const reason = new LeaseUnavailableError(`no answer within ${CHECK_TIMEOUT} ms`, { store: 'kubernetes' })
  const cancel = clock.schedule(CHECK_TIMEOUT, () => late.abort(reason))
  try {
    for (const sentence of await store.checkAccess(name, late.signal)) logger.warn(sentence)
  } catch (error) {
    if (!(error instanceof LeaseUnavailableError)) {
      await store.close()
      throw error
    }
    logger.warn('whether leases can be held in the cluster could not be checked', error)
  } finally {
    cancel()
  }
}
