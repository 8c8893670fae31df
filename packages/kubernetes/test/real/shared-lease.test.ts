import { describeReal } from '../support/describe-real.js'
import { describeSharedLease } from '../support/shared-lease.js'

describeReal((server) => describeSharedLease(() => server().kubeConfig()))
