"""Word lists that say whether a period ends a sentence and where a speaker breathes."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a list written as one text."""
    return frozenset(text.split())


# A period after these never ends a sentence.
NEVER = words(
    "dr mr mrs ms prof gen gov sen rep capt lt col sgt cmdr rev hon pres supt messrs mt fr e.g i.e "
    "cf vs viz"
)
# Nor after these when a number follows ("No. 5"); otherwise they are like the next group.
BEFORE_NUMBER = words(
    "no nos fig apt ste ext vol ch sec pp rm art tel pt approx max min temp qty dept appt"
)
# After these a sentence ends only if the next word usually begins one.
MAY_END = words(
    "a.m p.m etc inc ltd co corp bros jr sr st ave blvd rd ln hwy pkwy ct pl sq bldg ft in lb lbs "
    "oz hr hrs mins est u.s u.k ph.d m.d b.a d.c n.e n.w s.e s.w"
)
CAPITAL_MAY_END = words(
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun"
)
STARTERS = words(
    "a an the this that these those there here it its it's i i'm i'll i've i'd we we're we'll "
    "we've you you're you'll your he he's she she's they they're my our his her their what when "
    "where which who why how if is are was were do does did can could would will should shall may "
    "might must have has had please thanks thank yes no okay ok sorry so then and but or also now "
    "after before because since while once for in on at to with as from not never let let's just "
    "all any some each every both another next first second finally however meanwhile otherwise "
    "call turn check make take try good great sure"
)
# A breath comes naturally before these words ...
BREATH_BEFORE = words(
    "and but or nor so yet because since although though while whereas if unless until till when "
    "whenever where wherever which who whom whose that whether after before once as than in on at "
    "by for from with without within into onto over under between through during about against "
    "across along around behind below beside beyond near toward towards upon via to"
)
# ... and never after these, which lean on the next word.
LEANS_ON_NEXT = words(
    "a an the this that these those my your his her its our their every each no any some of to in "
    "on at by for from with and or but is are was were be been am do does did can could will would "
    "shall should may might must have has had i you he she it we they very too so not dr mr mrs ms "
    "st number unit about into as than if when which who"
)
