import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { describeReal } from '../support/describe-real.js'
import { inPod, lookLaws, stateLaws, subjectOver, watchLaws } from '../support/law-subjects.js'

describeReal((server) => {
  const place = {
    port: () => server().port,
    ca: () => server().ca(),
    remove: (name: string) => server().ask('DELETE', `/apis/coordination.k8s.io/v1/namespaces/default/leases/${name}`),
  }
  // Custom resources with an empty string, which is a free lease, are refused by the build that CI has.
  const inVirtualTime = subjectOver(place, 'lease', 'virtual')
  describeStoreLaws(inVirtualTime, stateLaws)
  describeLeaseLaws(leasesOver(inVirtualTime))
  describeStoreLaws(subjectOver(place, 'lease', 'real'), [...watchLaws, ...lookLaws])
  const pod = inPod(place)
  describeStoreLaws(subjectOver(pod, 'lease', 'virtual'), stateLaws)
  describeStoreLaws(subjectOver(pod, 'lease', 'real'), watchLaws)
})
