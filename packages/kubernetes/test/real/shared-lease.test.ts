import { describeReal } from '../support/describe-real.js'
import { kubeConfigOf } from '../support/kube-config-for.js'
import { describeSharedLease } from '../support/shared-lease.js'

describeReal((server) => describeSharedLease(() => kubeConfigOf(server())))
