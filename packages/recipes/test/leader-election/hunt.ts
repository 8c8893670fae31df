import { casSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import { leaderElectionLaws } from '../laws/leader-election.js'
import { hunt, onEach } from '../support/hunt.js'
import { scenario } from './scenario.js'
import { leaderElection } from './subject.js'

void hunt({ laws: leaderElectionLaws, subjects: onEach([memorySubject, casSubject], leaderElection), scenario })
