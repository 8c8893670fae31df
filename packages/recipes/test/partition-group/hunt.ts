import { casSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import { partitionGroupLaws } from '../laws/partition-group.js'
import { hunt, onEach } from '../support/hunt.js'
import { scenario } from './scenario.js'
import { partitionGroup } from './subject.js'

await hunt({ laws: partitionGroupLaws, subjects: onEach([memorySubject, casSubject], partitionGroup), scenario })
