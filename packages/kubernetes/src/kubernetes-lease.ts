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

type BlockKey = keyof KubernetesLeaseStoreOptions | 'checkAccess'

const makeLease: LeaseFactory = async (settings, context) => {
  const { clock, logger, share } = context
  const values = new OptionValues<BlockKey>('kubernetes', settings.options)
  const options = optionsIn(values)
  // Another clock is for tests, and the store must then use it too.
  const time = clock === systemClock ? {} : { clock }
  const store = await share(`kubernetes:${JSON.stringify(options)}`, async () => {
    const opened = new KubernetesLeaseStore({ ...options, ...time, logger })
    if (values.switch('checkAccess') ?? true) await check(opened, settings.name, context)
    return opened
  })
  return new StoreLease(settings, store, { clock, logger })
}

/**
 * The factory of leases in a Kubernetes cluster, for `lease-class = "@leasehold/kubernetes"`. All leases of one provider
 * with the same options share a store. For the first one, the factory checks the permissions, and rejects with a
 * `LeaseUnauthorisedError` or a `LeaseConfigurationError` if leases cannot be held.
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

/** Without an answer, the first `acquire` reports the problem. */
async function check(store: KubernetesLeaseStore, name: string, { logger }: LeaseFactoryContext): Promise<void> {
  try {
    for (const sentence of await store.checkAccess(name)) logger.warn(sentence)
  } catch (error) {
    if (!(error instanceof LeaseUnavailableError)) {
      await store.close()
      throw error
    }
    logger.warn('the permissions to hold leases in the cluster could not be checked', error)
  }
}
